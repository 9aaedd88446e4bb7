/** Mutes a rule with a reason and an end. People are notified at the end of alerts that are still open. */
import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { muteRule, ruleKeys, unmuteRule } from '../../api/rules';
import type { Mute, RuleDetail } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { FilterSelect } from '../../ui/filter-select';
import { NotChangedNotice } from '../../ui/not-changed-notice';
import { Panel } from '../../ui/panel';
import { Status } from '../../ui/status';
import { TimeAgo } from '../../ui/time-ago';
import classes from './rules.module.css';

const MUTED = { tone: 'unsure', icon: 'mute', word: 'muted' } as const;

export function MuteMark({ mute }: { mute: Mute }) {
  return (
    <div className={classes.sub}>
      <Status look={MUTED} title={mute.reason} /> until{' '}
      {formatDateTime(mute.until)}
    </div>
  );
}

/** Offered lengths of a mute, hours. The server allows any up to 90 days. */
const DURATIONS = [
  { value: '1', label: 'an hour' },
  { value: '8', label: '8 hours' },
  { value: '24', label: 'a day' },
  { value: '72', label: '3 days' },
  { value: '168', label: 'a week' },
  { value: '720', label: '30 days' },
] as const;

export interface MutePanelProps {
  rule: RuleDetail;
  allowed: boolean;
}

export function MutePanel({ rule, allowed }: MutePanelProps) {
  const past = rule.mutes.filter(({ id }) => id !== rule.mute?.id);
  return (
    <Panel
      title="Mute"
      about="A muted rule still raises alerts. People are notified at the end of those still open."
    >
      {rule.mute !== null && (
        <CurrentMute rule={rule} mute={rule.mute} allowed={allowed} />
      )}
      {rule.mute === null && allowed && <MuteForm rule={rule} />}
      {rule.mute === null && !allowed && (
        <p className={classes.sub}>Not muted.</p>
      )}
      {past.length > 0 && (
        <ul className={classes.mutes} aria-label="Past mutes">
          {past.map((mute) => (
            <li key={mute.id}>
              {mute.reason}
              <div className={classes.sub}>
                {mute.muted_by}, <TimeAgo at={mute.created_at} />, until{' '}
                {formatDateTime(mute.ended_at ?? mute.until)}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function useRuleUpdate() {
  const queryClient = useQueryClient();
  return (rule: RuleDetail) => {
    queryClient.setQueryData(ruleKeys.rule(rule.id), rule);
    void queryClient.invalidateQueries({ queryKey: ruleKeys.lists });
  };
}

function CurrentMute({ rule, mute, allowed }: MutePanelProps & { mute: Mute }) {
  const accept = useRuleUpdate();
  const unmute = useMutation({
    mutationFn: () => unmuteRule(rule.id),
    onSuccess: accept,
  });
  return (
    <Stack gap="xs" align="flex-start">
      <MuteMark mute={mute} />
      <div>
        {mute.reason}
        <div className={classes.sub}>
          {mute.muted_by}, <TimeAgo at={mute.created_at} />
        </div>
      </div>
      {allowed && (
        <Button
          variant="default"
          size="xs"
          loading={unmute.isPending}
          onClick={() => unmute.mutate()}
        >
          Unmute
        </Button>
      )}
      <NotChangedNotice error={unmute.error} />
    </Stack>
  );
}

function MuteForm({ rule }: { rule: RuleDetail }) {
  const [reason, setReason] = useState('');
  const [hours, setHours] = useState('24');
  const accept = useRuleUpdate();
  const mute = useMutation({
    mutationFn: () => muteRule(rule.id, reason.trim(), Number(hours)),
    onSuccess: accept,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mute.mutate();
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
          style={{ alignSelf: 'flex-start' }}
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
