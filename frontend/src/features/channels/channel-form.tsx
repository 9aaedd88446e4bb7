/** The form of a new or an existing channel: its address, what is sent to it, and when. */
import {
  Alert,
  Autocomplete,
  Button,
  Checkbox,
  Group,
  Stack,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { channelKeys } from '../../api/channels';
import type { ChannelKind } from '../../api/types';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import { FILTER_LABELS, KIND_OPTIONS } from './channel-labels';
import {
  isComplete,
  PATTERN_FIELDS,
  templateFault,
  type ChannelDraft,
  type Severity,
} from './channel-draft';
import classes from './channels.module.css';

const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'info'];
const TIME_ZONES = Intl.supportedValuesOf('timeZone');
const PLACEHOLDERS: Record<(typeof PATTERN_FIELDS)[number], string> = {
  kinds: 'e.g. alert.*',
  states: 'e.g. open',
  suites: 'e.g. hashing, crypto',
  targets: 'e.g. lab-*',
  branches: 'e.g. main, release/*',
};

export interface ChannelFormProps<Saved> {
  initial: ChannelDraft;
  isNew: boolean;
  save: (draft: ChannelDraft) => Promise<Saved>;
  onSaved: (saved: Saved) => void;
  /** Sends a test message made from the template of a chat. */
  onTest?: () => void;
}

export function ChannelForm<Saved>({
  initial,
  isNew,
  save,
  onSaved,
  onTest,
}: ChannelFormProps<Saved>) {
  const [draft, setDraft] = useState(initial);
  const queryClient = useQueryClient();
  const saving = useMutation({
    mutationFn: async (thenTest: boolean) => ({
      saved: await save(draft),
      thenTest,
    }),
    onSuccess: ({ saved, thenTest }) => {
      setDraft(initial);
      onSaved(saved);
      if (thenTest) onTest?.();
      void queryClient.invalidateQueries({ queryKey: channelKeys.all });
    },
  });
  const edit = (change: Partial<ChannelDraft>) =>
    setDraft({ ...draft, ...change });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(false);
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md" align="stretch">
        <Destination draft={draft} isNew={isNew} onEdit={edit} />
        {draft.kind === 'chat' && <Template draft={draft} onEdit={edit} />}
        <Filters draft={draft} onEdit={edit} />
        <Times draft={draft} onEdit={edit} />
        {saving.error !== null && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            icon={<Icon name="warning" />}
          >
            {isNew ? 'Not made' : 'Not changed'}: {saving.error.message}
          </Alert>
        )}
        <Group gap="xs">
          <Button
            type="submit"
            loading={saving.isPending}
            disabled={!isComplete(draft, isNew)}
          >
            {isNew ? 'Make channel' : 'Save'}
          </Button>
          {draft.kind === 'chat' && onTest !== undefined && (
            <Button
              variant="default"
              disabled={saving.isPending || !isComplete(draft, isNew)}
              onClick={() => saving.mutate(true)}
            >
              Save and send a test
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

interface FieldsProps {
  draft: ChannelDraft;
  onEdit: (change: Partial<ChannelDraft>) => void;
}

function Destination({
  draft,
  isNew,
  onEdit,
}: FieldsProps & { isNew: boolean }) {
  const isMail = draft.kind === 'email';
  return (
    <div className={classes.fields}>
      <TextInput
        label="Name"
        placeholder="e.g. team"
        required
        maxLength={100}
        value={draft.name}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
      />
      {isNew && (
        <FilterSelect
          label="Kind"
          value={draft.kind}
          options={KIND_OPTIONS}
          onChange={(kind) =>
            onEdit({ kind: (kind ?? 'webhook') as ChannelKind, address: '' })
          }
        />
      )}
      <TextInput
        label={isMail ? 'Recipients' : 'URL'}
        description={
          isNew || isMail
            ? undefined
            : 'Leave it empty to keep the present one, which is not shown.'
        }
        placeholder={
          isMail ? 'a@example.org, b@example.org' : 'https://example.org/hook'
        }
        required={isNew}
        maxLength={isMail ? 10_000 : 2000}
        value={draft.address}
        onChange={(event) => onEdit({ address: event.currentTarget.value })}
      />
    </div>
  );
}

function Template({ draft, onEdit }: FieldsProps) {
  return (
    <Textarea
      label="Template"
      description="The message as JSON. {title}, {summary}, {text}, {url}, {links}, {facts} and the other fields of an event are filled in. A test shows how the chat lays it out."
      required
      autosize
      minRows={3}
      maxRows={20}
      maxLength={10_000}
      classNames={{ input: classes.template }}
      value={draft.template}
      error={templateFault(draft)}
      onChange={(event) => onEdit({ template: event.currentTarget.value })}
    />
  );
}

function Filters({ draft, onEdit }: FieldsProps) {
  return (
    <fieldset className={classes.group}>
      <legend>What is sent</legend>
      <p className={classes.quiet}>
        Empty fields admit everything. Patterns are separated by commas; *
        stands for any characters.
      </p>
      <Checkbox.Group
        label={FILTER_LABELS.severities}
        value={draft.severities}
        onChange={(severities) =>
          onEdit({ severities: severities as Severity[] })
        }
      >
        <Group gap="md" pt={4}>
          {SEVERITIES.map((severity) => (
            <Checkbox key={severity} value={severity} label={severity} />
          ))}
        </Group>
      </Checkbox.Group>
      <div className={classes.fields}>
        {PATTERN_FIELDS.map((field) => (
          <TextInput
            key={field}
            label={FILTER_LABELS[field]}
            placeholder={PLACEHOLDERS[field]}
            value={draft.patterns[field]}
            onChange={(event) =>
              onEdit({
                patterns: {
                  ...draft.patterns,
                  [field]: event.currentTarget.value,
                },
              })
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

function Times({ draft, onEdit }: FieldsProps) {
  return (
    <fieldset className={classes.group}>
      <legend>When</legend>
      <div className={classes.fields}>
        <TextInput
          type="time"
          label="Daily digest at"
          value={draft.digestAt}
          onChange={(event) => onEdit({ digestAt: event.currentTarget.value })}
        />
        <Autocomplete
          label="Time zone"
          data={TIME_ZONES}
          limit={20}
          value={draft.timeZone}
          onChange={(timeZone) => onEdit({ timeZone })}
        />
      </div>
    </fieldset>
  );
}
