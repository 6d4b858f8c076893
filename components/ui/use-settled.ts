"use client";

import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** Returns `value` once it has not changed for a while, and a function that sets it at once. */
export const useSettled = <Value extends string | null>(
  value: Value,
): [Value, (value: Value) => void] => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return undefined;
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return [settled, setSettled];
};
