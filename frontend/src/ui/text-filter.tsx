/** A filter that is typed: the server is asked when the typing pauses, not with every letter. */
import { TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';

/** Pause after the last key before the server is asked, ms: a word is typed faster, a thought slower. */
const TYPING_MS = 300;

export interface TextFilterProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (text: string | undefined) => void;
}

/**
 * What is typed follows the address when something else changed it (the back button, a cleared filter), and
 * never when it is our own change coming back: whoever types on loses no letter and no focus.
 */
function useTyped(value: string, onChange: TextFilterProps['onChange']) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState({ value, sent: value });
  if (value !== known.value) {
    setKnown({ value, sent: value });
    if (value !== known.sent) setTyped(value);
  }
  useEffect(() => {
    const next = typed.trim();
    if (next === value) return undefined;
    const timer = setTimeout(() => {
      setKnown((held) => ({ ...held, sent: next }));
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
  const { typed, setTyped } = useTyped(value, onChange);
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
