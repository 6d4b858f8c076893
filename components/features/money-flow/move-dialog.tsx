"use client";

import dynamic from "next/dynamic";
import type { ReactNode } from "react";
import type { MoveDialogProps } from "./move-panel";

// Codes, second factors and signatures are needed once there is something to approve.
const MovePanel = dynamic(() => import("./move-panel").then((module) => module.MovePanel), { ssr: false });

/** The dialog that approves, signs and executes; nothing until a subject was given to the flow. */
export const MoveDialog = (props: MoveDialogProps): ReactNode =>
  props.flow.flow === null ? null : <MovePanel {...props} />;
