"use client";

import { useEffect, useState } from "react";

/** The time in ms, renewed every `everyMs`; null until the page is live, so that server and browser draw the same. */
export const useNow = (everyMs: number): number | null => {
  const [now, setNow] = useState<number | null>(null);
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
};
