/** The field for a new password, with its requirements and the reason of a refusal. */
import { PasswordInput } from '@mantine/core';

import { isApiError } from '../api/errors';

/** Minimum length. The server checks it too; checking here saves a request. */
const SHORTEST = 12;

export interface NewPasswordFieldProps {
  label?: string;
  value: string;
  onChange: (password: string) => void;
  /** The refusal of the last attempt; shown here if it is about the password. */
  error: Error | null;
}

export function NewPasswordField({
  label = 'Password',
  value,
  onChange,
  error,
}: NewPasswordFieldProps) {
  return (
    <PasswordInput
      label={label}
      description="At least 12 characters, such as four unrelated words."
      autoComplete="new-password"
      required
      minLength={SHORTEST}
      value={value}
      error={isWeakPassword(error) ? error?.message : null}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{
        'aria-label': 'Show password',
        tabIndex: 0,
      }}
    />
  );
}

/** Returns whether this field shows the refusal, so that the form does not. */
export function isWeakPassword(error: Error | null): boolean {
  return isApiError(error) && error.code === 'weak_password';
}
