/**
 * The form of a rule: its fields, a replay on past data, and saving.
 *
 * A replay is marked as outdated once a field changes; a replay saves nothing.
 */
import { Alert as Notice, Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { isApiError } from '../../api/errors';
import { replayRule, ruleKeys } from '../../api/rules';
import type { RuleDetail, RuleRequest } from '../../api/types';
import { Icon } from '../../ui/icon';
import { ReplayPanel } from './replay-panel';
import { hasEffect } from './rule-labels';
import { RuleFields } from './rule-fields';
import { complete, fieldErrors, toRequest, type RuleDraft } from './rule-draft';

export interface RuleFormProps {
  initial: RuleDraft;
  /** The rule this would be a new version of; null for a new one. */
  ruleId: string | null;
  save: (rule: RuleRequest) => Promise<RuleDetail>;
  onSaved: (rule: RuleDetail) => void;
}

export function RuleForm({ initial, ruleId, save, onSaved }: RuleFormProps) {
  const [draft, setDraft] = useState(initial);
  const [days, setDays] = useState(30);
  const queryClient = useQueryClient();
  const replay = useMutation({
    mutationFn: (rule: RuleRequest) => replayRule(rule, ruleId, days),
  });
  const saving = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      queryClient.setQueryData(ruleKeys.rule(saved.id), saved);
      void queryClient.invalidateQueries({ queryKey: ruleKeys.all });
      onSaved(saved);
    },
  });
  const change = (part: Partial<RuleDraft>) =>
    setDraft((before) => ({ ...before, ...part }));
  const request = toRequest(draft);
  const refused = saving.error ?? replay.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(request);
  };
  return (
    <form onSubmit={submit} aria-label="Rule">
      <RuleFields
        draft={draft}
        onChange={change}
        errors={isApiError(refused) ? fieldErrors(refused.fields) : {}}
        named={ruleId !== null}
      />
      {hasEffect(draft.kind) && (
        <ReplayPanel
          days={days}
          onDays={setDays}
          ready={draft.percent !== ''}
          replay={replay}
          stale={
            JSON.stringify(replay.variables) !==
            JSON.stringify(replayRequest(request))
          }
          onReplay={() => {
            saving.reset();
            replay.mutate(replayRequest(request));
          }}
        />
      )}
      {saving.error !== null && <SaveRefusal error={saving.error} />}
      <Group mt="md">
        <Button
          type="submit"
          loading={saving.isPending}
          disabled={!complete(draft)}
        >
          {ruleId === null ? 'Save rule' : 'Save new version'}
        </Button>
      </Group>
    </form>
  );
}

/** Keeps only what a replay depends on: not the name (a new rule may lack one), the owner or the description. */
function replayRequest(rule: RuleRequest): RuleRequest {
  return {
    ...rule,
    name: rule.name === '' ? 'unnamed' : rule.name,
    text: '',
    comment: '',
    owner_id: null,
  };
}

function SaveRefusal({ error }: { error: Error }) {
  return (
    <Notice
      color="red"
      variant="outline"
      role="alert"
      mt="md"
      icon={<Icon name="warning" />}
    >
      <strong>Rule not saved.</strong> {error.message}
    </Notice>
  );
}
