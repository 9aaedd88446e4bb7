/** Asks for what the files lack, how their figures count, and whether to import them. */
import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { announcedSuitesQuery } from '../../api/catalog';
import type { Origin } from '../../api/imports';
import { FilterSelect } from '../../ui/filter-select';
import classes from './imports.module.css';
import { countOf, type Upload } from './use-uploads';

const COMMIT = /^[0-9a-f]{7,64}$/;

export interface OriginFormProps {
  uploads: readonly Upload[];
  onStore: (origin: Origin) => void;
  onClear: () => void;
}

export function OriginForm({ uploads, onStore, onClear }: OriginFormProps) {
  const [target, setTarget] = useState('');
  const [commit, setCommit] = useState('');
  const [branch, setBranch] = useState('');
  const [at, setAt] = useState('');
  const [suite, setSuite] = useState<string>();
  const [isJudged, setIsJudged] = useState(false);
  const suites = useQuery(announcedSuitesQuery);
  const previews = uploads.flatMap(({ state }) =>
    state.kind === 'recognised' || state.kind === 'storing'
      ? [state.preview]
      : [],
  );
  const isBusy = uploads.some(
    ({ state: { kind } }) => kind === 'reading' || kind === 'storing',
  );
  const lacks = (name: 'commit' | 'branch' | 'at') =>
    previews.some((preview) => preview[name] === null);
  const isCommit = commit === '' || COMMIT.test(commit);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onStore({
      ...(target.trim() === '' ? {} : { on: target.trim() }),
      ...(suite === undefined ? {} : { suite }),
      ...(isJudged ? { judge: true } : {}),
      ...(commit === '' ? {} : { commit }),
      ...(branch.trim() === '' ? {} : { branch: branch.trim() }),
      ...(at === '' ? {} : { at: new Date(at).toISOString() }),
    });
  };
  return (
    <form onSubmit={submit}>
      {previews.length > 0 && (
        <fieldset className={classes.origin}>
          <legend>Add what the files do not say</legend>
          <TextInput
            label="Target that measured"
            placeholder="imported"
            maxLength={100}
            value={target}
            onChange={({ currentTarget }) => setTarget(currentTarget.value)}
          />
          <FilterSelect
            label="Suite"
            all="named like the tool"
            value={suite}
            options={suites.data?.items.map(({ name, title }) => ({
              value: name,
              label: title,
            }))}
            onChange={setSuite}
          />
          {lacks('commit') && (
            <TextInput
              label="Commit"
              placeholder="unknown"
              maxLength={64}
              value={commit}
              error={isCommit ? null : 'Expected 7 to 64 hexadecimal digits'}
              onChange={({ currentTarget: { value } }) =>
                setCommit(value.trim().toLowerCase())
              }
            />
          )}
          {lacks('branch') && (
            <TextInput
              label="Branch"
              placeholder="the default branch"
              maxLength={200}
              value={branch}
              onChange={({ currentTarget }) => setBranch(currentTarget.value)}
            />
          )}
          {lacks('at') && (
            <TextInput
              label="Measured, else now"
              type="datetime-local"
              value={at}
              onChange={({ currentTarget }) => setAt(currentTarget.value)}
            />
          )}
          <Checkbox
            className={classes.judge ?? ''}
            label="Judge: look for changes in the history of these series"
            description="Otherwise they are only shown. People hear of a change if it was measured within the last three days."
            checked={isJudged}
            onChange={({ currentTarget }) => setIsJudged(currentTarget.checked)}
          />
        </fieldset>
      )}
      <Group gap="sm">
        {previews.length > 0 && (
          <Button type="submit" loading={isBusy} disabled={!isCommit}>
            Import {countOf(previews.length, 'file')}
          </Button>
        )}
        <Button variant="default" disabled={isBusy} onClick={onClear}>
          Clear list
        </Button>
      </Group>
    </form>
  );
}
