/** What is built: one revision, or two that are measured interleaved. */
import { Group, TextInput } from '@mantine/core';

import { Panel } from '../../ui/panel';
import { isCommit, type Draft } from './run-draft';

export interface RevisionFieldsProps {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}

const complaint = (commit: string) =>
  isCommit(commit)
    ? undefined
    : 'Expected 7 to 64 hexadecimal digits of a commit.';

export function RevisionFields({ draft, onChange }: RevisionFieldsProps) {
  return (
    <Panel
      title="Which revision"
      note={
        draft.base.trim() === ''
          ? 'Leave both empty to measure the newest revision. A base makes it an A/B run.'
          : 'An A/B run: both revisions are built and measured interleaved in one job, which decides.'
      }
    >
      <Group align="flex-start">
        <TextInput
          label="Commit"
          placeholder="newest"
          maxLength={64}
          w="24rem"
          maw="100%"
          value={draft.commit}
          error={complaint(draft.commit)}
          onChange={(event) => onChange({ commit: event.currentTarget.value })}
        />
        <TextInput
          label="Base commit"
          placeholder="none"
          maxLength={64}
          w="24rem"
          maw="100%"
          value={draft.base}
          error={complaint(draft.base)}
          onChange={(event) => onChange({ base: event.currentTarget.value })}
        />
      </Group>
    </Panel>
  );
}
