"use client";

import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** `value` once it has not changed for a while, and a way to take it at once. */
export const useSettled = (value: string | null): [string | null, (value: string | null) => void] => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return undefined;
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return [settled, setSettled];
};
