/** Asks for what the files lack, and whether to import them. */
import { Button, Group, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';

import type { Origin } from '../../api/imports';
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
