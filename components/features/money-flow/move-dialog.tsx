"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import type { MoveDialogProps } from "./move-panel";

const MovePanel = dynamic(() => import("./move-panel").then((module) => module.MovePanel), {
  ssr: false,
});

/** Renders nothing, and does not load the dialog, until the flow has started. */
export const MoveDialog = (props: MoveDialogProps): ReactNode =>
  props.flow.flow === null ? null : <MovePanel {...props} />;
