/** The field for a new password: what is asked of it, and why the server refused it. */
import { PasswordInput } from '@mantine/core';

import { isApiError } from '../api/errors';

/** The server decides; this only saves a request. */
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
      error={isWeak(error) ? error?.message : null}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{
        'aria-label': 'Show password',
        tabIndex: 0,
      }}
    />
  );
}

/** Whether a refusal is shown by the field, and not beside the form. */
export function isWeak(error: Error | null): boolean {
  return isApiError(error) && error.code === 'weak_password';
}
