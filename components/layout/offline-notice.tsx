"use client";

import { WifiOff } from "lucide-react";
import { useSyncExternalStore, type ReactNode } from "react";

const subscribe = (listener: () => void): (() => void) => {
  window.addEventListener("online", listener);
  window.addEventListener("offline", listener);
  return () => {
    window.removeEventListener("online", listener);
    window.removeEventListener("offline", listener);
  };
};

/** Warns that the page may be out of date while the browser has no network. */
export const OfflineNotice = (): ReactNode => {
  const online = useSyncExternalStore(
    subscribe,
    () => navigator.onLine,
    () => true,
  );
  if (online) return null;
  return (
    <p role="alert" className="flex items-center gap-2 bg-warning-tint px-4 py-2 text-warning">
      <WifiOff className="size-4 shrink-0" aria-hidden />
      You are offline. This page may be out of date. Money that is on its way is not affected.
    </p>
  );
};
