"use client";

import dynamic from "next/dynamic";

/** A dialog with one text. It is loaded when it opens, because its form and checks are large. */
export const TextDialog = dynamic(
  () => import("./text-dialog-form").then((module) => module.TextDialogForm),
  { ssr: false },
);
