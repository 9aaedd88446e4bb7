/** Marks a waived failure, with who waived it and until when. */
import type { Waived } from '../api/types';
import { Status } from './status';

const WAIVED = { tone: 'unsure', icon: 'mute', word: 'waived' } as const;

export function WaivedMark({ waived }: { waived: Waived | null }) {
  if (waived === null) return null;
  return (
    <div>
      <Status look={WAIVED} title={waived.words} />
    </div>
  );
}
