/** Mutes a rule with a reason and an end. People are notified at the end of alerts that are still open. */
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { muteRule, ruleKeys, unmuteRule } from '../../api/rules';
import type { RuleDetail } from '../../api/types';
import { formatDateTime } from '../../lib/times';
import { MuteForm, MuteInForce } from '../../ui/mute';
import { Panel } from '../../ui/panel';
import { TimeAgo } from '../../ui/time-ago';
import classes from './rules.module.css';

export interface MutePanelProps {
  rule: RuleDetail;
  allowed: boolean;
}

export function MutePanel({ rule, allowed }: MutePanelProps) {
  const queryClient = useQueryClient();
  const accept = {
    onSuccess: (changed: RuleDetail) => {
      queryClient.setQueryData(ruleKeys.rule(changed.id), changed);
      void queryClient.invalidateQueries({ queryKey: ruleKeys.lists });
    },
  };
  const mute = useMutation({
    mutationFn: ({ reason, hours }: { reason: string; hours: number }) =>
      muteRule(rule.id, reason, hours),
    ...accept,
  });
  const unmute = useMutation({
    mutationFn: () => unmuteRule(rule.id),
    ...accept,
  });
  const past = rule.mutes.filter(({ id }) => id !== rule.mute?.id);
  return (
    <Panel
      title="Mute"
      about="A muted rule still raises alerts. People are notified at the end of those still open."
    >
      {rule.mute !== null && (
        <MuteInForce
          mute={rule.mute}
          unmute={unmute}
          onUnmute={allowed ? () => unmute.mutate() : undefined}
        />
      )}
      {rule.mute === null && allowed && (
        <MuteForm
          mute={mute}
          onMute={(reason, hours) => mute.mutate({ reason, hours })}
        />
      )}
      {rule.mute === null && !allowed && (
        <p className={classes.sub}>Not muted.</p>
      )}
      {past.length > 0 && (
        <ul className={classes.mutes} aria-label="Past mutes">
          {past.map((former) => (
            <li key={former.id}>
              {former.reason}
              <div className={classes.sub}>
                {former.muted_by}, <TimeAgo at={former.created_at} />, until{' '}
                {formatDateTime(former.ended_at ?? former.until)}
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
