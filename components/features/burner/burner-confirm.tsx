"use client";

import dynamic from "next/dynamic";
import { useSyncExternalStore, type ReactNode } from "react";
import { currentRequest, subscribeToRequests } from "./confirm-store";

// The dialog is loaded only when the person signs with the burner wallet.
const BurnerDialog = dynamic(
  () => import("./burner-dialog").then((module) => module.BurnerDialog),
  { ssr: false },
);

const nothing = (): null => null;

/** The confirmation dialog, which a real browser wallet would show in its own window. */
export const BurnerConfirm = (): ReactNode => {
  const request = useSyncExternalStore(subscribeToRequests, currentRequest, nothing);
  return request === null ? null : <BurnerDialog request={request} />;
};
