/** Switches to another project; hidden from people who have only one. */
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
        // The objects of this page do not exist in the other project, so its overview is opened.
        void navigate({
          to: '/',
          search: { project: event.currentTarget.value },
        })
      }
    />
  );
}
