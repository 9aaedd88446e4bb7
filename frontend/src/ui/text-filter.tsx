/** A filter for free text. It takes effect when the typing pauses, so that not every key causes a request. */
import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';

/** Pause after the last key, in ms; people type the letters of a word faster. */
const TYPING_MS = 300;

export interface TextFilterProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (text: string | undefined) => void;
}

/**
 * Synchronizes the typed text with the filter in the address.
 *
 * The text changes when something else changes the address, such as the back button. It does not change when the
 * address gets the text that this filter sent, because more letters may have been typed since.
 */
function useTypedText(value: string, onChange: TextFilterProps['onChange']) {
  const [typed, setTyped] = useState(value);
  const [last, setLast] = useState({ value, sent: value });
  if (value !== last.value) {
    setLast({ value, sent: value });
    if (value !== last.sent) setTyped(value);
  }
  useEffect(() => {
    const next = typed.trim();
    if (next === value) return undefined;
    const timer = setTimeout(() => {
      setLast((current) => ({ ...current, sent: next }));
      onChange(next === '' ? undefined : next);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  });
  return { typed, setTyped };
}

export function TextFilter({
  label,
  placeholder,
  value = '',
  onChange,
}: TextFilterProps) {
  const { typed, setTyped } = useTypedText(value, onChange);
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      type="search"
      value={typed}
      maxLength={200}
      onChange={(event) => setTyped(event.currentTarget.value)}
    />
  );
}
