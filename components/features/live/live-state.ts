"use client";

import { createContext, useContext } from "react";

/**
 * `starting`: the stream of changes is being opened. `down`: it is closed, and lists are polled
 * slowly.
 */
export type LiveState = "starting" | "live" | "down";

/** Pages outside of the dashboard have no stream of changes. */
export const LiveStateContext = createContext<LiveState>("down");

const SLOW_POLL_MS = 30_000;

/** Polling interval of a list that the stream of changes covers; false while the stream is open. */
export const useLiveIntervalMs = (): number | false =>
  useContext(LiveStateContext) === "down" ? SLOW_POLL_MS : false;
