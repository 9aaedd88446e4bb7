/** Mutes the rule behind an alert until a date. The server creates the rule if there is none. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { alertKeys, muteAlert } from '../../api/alerts';
import { ruleKeys, unmuteRule } from '../../api/rules';
import { may, sessionQuery } from '../../api/session';
import type { AlertDetail } from '../../api/types';
import { MuteForm, MuteInForce } from '../../ui/mute';
import { Panel } from '../../ui/panel';
import classes from './alerts.module.css';
import { RuleLink } from './rule-link';

export function MutePanel({ alert }: { alert: AlertDetail }) {
  const session = useQuery(sessionQuery);
  const client = useQueryClient();
  const allowed = may(session.data, 'rules.write');
  const mute = useMutation({
    mutationFn: ({ reason, hours }: { reason: string; hours: number }) =>
      muteAlert(alert.id, reason, hours),
    onSuccess: (muted) => {
      client.setQueryData(alertKeys.alert(muted.id), muted);
      void client.invalidateQueries({ queryKey: ruleKeys.all });
    },
  });
  const unmute = useMutation({
    mutationFn: (ruleId: string) => unmuteRule(ruleId),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: alertKeys.alert(alert.id) });
      void client.invalidateQueries({ queryKey: ruleKeys.all });
    },
  });
  const ruleId = alert.rule_id;
  if (alert.mute === null && !(allowed && alert.can_be_muted)) return null;
  return (
    <Panel
      title="Mute"
      about="A muted rule still raises alerts, but people are told only at the end, of those still open."
    >
      {alert.mute === null ? (
        <>
          <p className={classes.muteNote}>
            {ruleId === null ? (
              'Makes a rule about this measurement on this target alone, and mutes it.'
            ) : (
              <>
                Mutes <RuleLink alert={alert} /> with all that it decides about.
              </>
            )}
          </p>
          <MuteForm
            mute={mute}
            onMute={(reason, hours) => mute.mutate({ reason, hours })}
          />
        </>
      ) : (
        <MuteInForce
          mute={alert.mute}
          unmute={unmute}
          onUnmute={
            allowed && ruleId !== null ? () => unmute.mutate(ruleId) : undefined
          }
        />
      )}
    </Panel>
  );
}
