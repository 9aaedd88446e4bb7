/** The mute of a rule, for the pages of rules and alerts: its badge, its end and reason, and the form of a new one. */
import { Button, Stack, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';

import type { Mute } from '../api/types';
import { formatDateTime } from '../lib/times';
import { FilterSelect } from './filter-select';
import classes from './mute.module.css';
import { NotChangedNotice } from './not-changed-notice';
import { Status } from './status';
import { TimeAgo } from './time-ago';

const MUTED = { tone: 'unsure', icon: 'mute', word: 'muted' } as const;

export function MuteMark({ mute }: { mute: Mute }) {
  return (
    <span className={classes.sub}>
      <Status look={MUTED} title={mute.reason} /> until{' '}
      {formatDateTime(mute.until)}
    </span>
  );
}

/** The part of a mutation that the forms here use. */
export interface MuteChange {
  isPending: boolean;
  error: Error | null;
}

export function MuteInForce({
  mute,
  unmute,
  onUnmute,
}: {
  mute: Mute;
  unmute: MuteChange;
  /** Undefined for people who may not end the mute. */
  onUnmute: (() => void) | undefined;
}) {
  return (
    <Stack gap="xs" align="flex-start">
      <MuteMark mute={mute} />
      <div>
        {mute.reason}
        <div className={classes.sub}>
          {mute.muted_by}, <TimeAgo at={mute.created_at} />
        </div>
      </div>
      {onUnmute !== undefined && (
        <Button
          variant="default"
          size="xs"
          loading={unmute.isPending}
          onClick={onUnmute}
        >
          Unmute
        </Button>
      )}
      <NotChangedNotice error={unmute.error} />
    </Stack>
  );
}

/** Lengths of a mute that are offered, in hours. The server allows any up to 90 days. */
const DURATIONS = [
  { value: '1', label: 'an hour' },
  { value: '8', label: '8 hours' },
  { value: '24', label: 'a day' },
  { value: '72', label: '3 days' },
  { value: '168', label: 'a week' },
  { value: '720', label: '30 days' },
] as const;

export function MuteForm({
  mute,
  onMute,
}: {
  mute: MuteChange;
  onMute: (reason: string, hours: number) => void;
}) {
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState('24');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onMute(reason.trim(), Number(hours));
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="xs" align="stretch">
        <TextInput
          label="Reason"
          placeholder="e.g. the lab is being moved"
          required
          maxLength={2000}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <FilterSelect
          label="For"
          value={hours}
          options={DURATIONS}
          onChange={(next) => setHours(next ?? '24')}
        />
        <Button
          type="submit"
          variant="default"
          size="xs"
          className={classes.submit ?? ''}
          loading={mute.isPending}
          disabled={reason.trim() === ''}
        >
          Mute rule
        </Button>
      </Stack>
      <NotChangedNotice error={mute.error} />
    </form>
  );
}
