/**
 * Single-key shortcuts. They are ignored while somebody types, in dialogs and with modifier keys; Enter is left to the
 * focused link or button. They can be switched off (WCAG 2.1.4).
 */
import { useLocalStorage } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';

const STORAGE_KEY = 'paceline-shortcuts';

export function useShortcutsEnabled() {
  return useLocalStorage({
    key: STORAGE_KEY,
    defaultValue: true,
    getInitialValueInEffect: false,
  });
}

function isForOtherControl(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
    return true;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="menu"]') !== null) return true;
  if (
    target.closest(
      'input:not([type="checkbox"]), textarea, select, [contenteditable="true"]',
    ) !== null
  )
    return true;
  return event.key === 'Enter' && target.closest('a, button, summary') !== null;
}

export type ShortcutMap = Readonly<Record<string, (() => void) | undefined>>;

/** `always` works even when shortcuts are switched off: it is how they are switched on again. */
export function useShortcuts(
  keys: ShortcutMap,
  always: ShortcutMap = {},
): void {
  const [enabled] = useShortcutsEnabled();
  const handle = useEffectEvent((event: KeyboardEvent) => {
    if (isForOtherControl(event)) return;
    const action = always[event.key] ?? (enabled ? keys[event.key] : undefined);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handle(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
