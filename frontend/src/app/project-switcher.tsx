/** Goes to another project. Whoever has only one never sees it. */
import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { sessionQuery } from '../api/session';

export function ProjectSwitcher() {
  const session = useQuery(sessionQuery);
  const navigate = useNavigate();
  const projects = session.data?.projects ?? [];
  if (projects.length < 2) return null;
  return (
    <NativeSelect
      aria-label="Project"
      size="sm"
      maw={{ base: 130, sm: 220 }}
      value={session.data?.project ?? ''}
      data={projects.map(({ name, title }) => ({ value: name, label: title }))}
      onChange={(event) =>
        // The objects of a page belong to its project: the other one begins at its overview.
        void navigate({
          to: '/',
          search: { project: event.currentTarget.value },
        })
      }
    />
  );
}
