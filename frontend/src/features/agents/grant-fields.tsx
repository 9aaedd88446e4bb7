/** The fields of a grant: which projects, repositories and targets an agent may act for. */
import { Checkbox, Group, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { sessionQuery } from '../../api/session';
import type { GrantDraft } from './grant-draft';

export interface GrantFieldsProps {
  draft: GrantDraft;
  onDraft: (draft: GrantDraft) => void;
}

export function GrantFields({ draft, onDraft }: GrantFieldsProps) {
  const session = useQuery(sessionQuery);
  return (
    <>
      <Checkbox.Group
        label="Projects"
        description="It is given their jobs, and its targets are shared with them."
        value={draft.projects}
        onChange={(projects) => onDraft({ ...draft, projects })}
      >
        <Group gap="md" mt={6}>
          {(session.data?.projects ?? []).map(({ name, title }) => (
            <Checkbox key={name} value={name} label={title} />
          ))}
        </Group>
      </Checkbox.Group>
      <Textarea
        label="Repositories"
        description="URLs or absolute paths, one per line. * stands for any part of a name, ** for anything."
        placeholder="https://git.example.org/team/*"
        required
        autosize
        minRows={2}
        value={draft.repositories}
        onChange={(event) =>
          onDraft({ ...draft, repositories: event.currentTarget.value })
        }
      />
      <Textarea
        label="Targets"
        description="host: or device: and a serial number, one per line. * stands for anything."
        required
        autosize
        minRows={2}
        value={draft.targets}
        onChange={(event) =>
          onDraft({ ...draft, targets: event.currentTarget.value })
        }
      />
    </>
  );
}
