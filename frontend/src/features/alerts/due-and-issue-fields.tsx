/** Edits the due date of an alert and the link to the issue about it. */
import { Button, Group, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';

import type { AlertDetail } from '../../api/types';
import { OVERDUE } from '../../ui/state-badges';
import { Status } from '../../ui/status';
import { useLinkIssue, useSetDue } from './use-triage';

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Returns the local day of an instant in the format of a date field: `2026-03-09`. */
function localDayOf(instant: string): string {
  const at = new Date(instant);
  return `${at.getFullYear()}-${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`;
}

/** Returns the end of a local day, because an alert due on the ninth is not overdue on the ninth. */
function endOfDay(day: string): string {
  return new Date(`${day}T23:59:59`).toISOString();
}

export function DueField({ alert }: { alert: AlertDetail }) {
  const due = useSetDue();
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        type="date"
        label="Due"
        value={alert.due_at === null ? '' : localDayOf(alert.due_at)}
        disabled={due.isPending}
        onChange={(event) => {
          const day = event.currentTarget.value;
          due.mutate({
            id: alert.id,
            dueAt: day === '' ? null : endOfDay(day),
          });
        }}
      />
      {alert.overdue && <Status look={OVERDUE} />}
    </Group>
  );
}

export function IssueField({ alert }: { alert: AlertDetail }) {
  const [url, setUrl] = useState(alert.issue_url ?? '');
  const link = useLinkIssue();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    link.mutate({ id: alert.id, url: url.trim() === '' ? null : url.trim() });
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        type="url"
        label="Issue"
        placeholder="https://tracker.example/issues/12"
        maxLength={2000}
        value={url}
        {...(link.error === null ? {} : { error: link.error.message })}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <Group gap="xs" mt="xs">
        <Button
          type="submit"
          variant="default"
          size="xs"
          loading={link.isPending}
          disabled={url.trim() === (alert.issue_url ?? '')}
        >
          {url.trim() === '' && alert.issue_url !== null
            ? 'Remove link'
            : 'Link issue'}
        </Button>
        {alert.issue_url !== null && <IssueLink url={alert.issue_url} />}
      </Group>
    </form>
  );
}

/** The link is safe to follow, because the server accepts only http and https addresses. */
export function IssueLink({ url }: { url: string }) {
  return (
    <a className="pl-link" href={url} target="_blank" rel="noreferrer noopener">
      Open issue
    </a>
  );
}
