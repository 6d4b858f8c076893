"use client";

import dynamic from "next/dynamic";
import { useEffect, useSyncExternalStore, type ReactNode } from "react";
import { subscribeToToasts, toastsWanted, wantToasts } from "./toast";

const ToasterView = dynamic(
  () => import("./toaster-view").then((module) => module.ToasterView),
  {
    ssr: false,
  },
);

const FIRST_INPUTS = ["pointerdown", "keydown"] as const;

const never = (): boolean => false;

/**
 * The region for the notes of `toast`. It exists from the first key or click, so that screen
 * readers know it before the first note.
 */
export const Toaster = (): ReactNode => {
  const wanted = useSyncExternalStore(subscribeToToasts, toastsWanted, never);
  useEffect(() => {
    for (const name of FIRST_INPUTS) window.addEventListener(name, wantToasts, { once: true });
    return () => {
      for (const name of FIRST_INPUTS) window.removeEventListener(name, wantToasts);
    };
  }, []);
  return wanted ? <ToasterView /> : null;
};
