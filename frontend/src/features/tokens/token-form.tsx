/** The form of a new token: its name, its permissions (at most those of its creator), and how long it is valid. */
import { Alert, Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';

import { createToken, tokensKey } from '../../api/tokens';
import type { CreatedToken, Permission } from '../../api/types';
import {
  NAMED_PERMISSIONS,
  PERMISSION_LABELS,
  type NamedPermission,
} from '../../lib/permissions';
import { FilterSelect } from '../../ui/filter-select';
import { Icon } from '../../ui/icon';
import classes from './tokens.module.css';

/** Permissions that `paceline submit` needs. */
const FOR_SUBMITTING: readonly NamedPermission[] = [
  'project.read',
  'runs.create',
  'targets.use',
];

const LIFETIMES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: 'never', label: 'until it is revoked' },
] as const;

export interface TokenFormProps {
  held: readonly Permission[];
  onCreated: (token: CreatedToken) => void;
}

export function TokenForm({ held, onCreated }: TokenFormProps) {
  const offered = NAMED_PERMISSIONS.filter((name) => held.includes(name));
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<NamedPermission[]>(
    FOR_SUBMITTING.filter((permission) => offered.includes(permission)),
  );
  const [lifetime, setLifetime] = useState('365');
  const queryClient = useQueryClient();
  const making = useMutation({
    mutationFn: () =>
      createToken({
        name: name.trim(),
        permissions: chosen,
        expires_in_days: lifetime === 'never' ? null : Number(lifetime),
      }),
    onSuccess: (token) => {
      setName('');
      onCreated(token);
      void queryClient.invalidateQueries({ queryKey: tokensKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" align="flex-start">
        <TextInput
          label="Name"
          placeholder="e.g. the CI of hashing"
          required
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Checkbox.Group
          label="May"
          value={chosen}
          onChange={(values) => setChosen(values as NamedPermission[])}
        >
          <div className={classes.choices}>
            {offered.map((permission) => (
              <Checkbox
                key={permission}
                value={permission}
                label={PERMISSION_LABELS[permission]}
              />
            ))}
          </div>
        </Checkbox.Group>
        <FilterSelect
          label="In force for"
          value={lifetime}
          options={LIFETIMES}
          onChange={(value) => setLifetime(value ?? '365')}
        />
        <Button
          type="submit"
          loading={making.isPending}
          disabled={name.trim() === '' || chosen.length === 0}
        >
          Make token
        </Button>
        {making.error !== null && (
          <Alert
            color="red"
            variant="outline"
            role="alert"
            icon={<Icon name="warning" />}
          >
            Not made: {making.error.message}
          </Alert>
        )}
      </Stack>
    </form>
  );
}
