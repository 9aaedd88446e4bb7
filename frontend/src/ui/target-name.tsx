/**
 * The name of a target, with a mark if the target is simulated.
 *
 * All names on a page share one request for the simulated targets; until it is answered, names have no mark.
 */
import { useQuery } from '@tanstack/react-query';

import { simulatedTargetsQuery } from '../api/targets';
import { AppLink } from './app-link';
import { SIMULATED } from './state-badges';
import { Status } from './status';

export const SIMULATED_MEANING =
  'A process on the server that answers like a phone. Not counted in fleet figures.';

export function SimulatedMark() {
  return <Status look={SIMULATED} title={SIMULATED_MEANING} />;
}

/** Shows the mark without the name, for names within a sentence or title. */
export function SimulatedMarkOf({ id }: { id: string | null | undefined }) {
  const simulated = useQuery(simulatedTargetsQuery);
  return id !== null && id !== undefined && simulated.data?.has(id) === true ? (
    <SimulatedMark />
  ) : null;
}

export interface TargetNameProps {
  id: string | null | undefined;
  name: string;
  link?: boolean;
}

export function TargetName({ id, name, link = false }: TargetNameProps) {
  return (
    <>
      {link && id !== null && id !== undefined ? (
        <AppLink to="/targets/$targetId" params={{ targetId: id }}>
          {name}
        </AppLink>
      ) : (
        name
      )}{' '}
      <SimulatedMarkOf id={id} />
    </>
  );
}
