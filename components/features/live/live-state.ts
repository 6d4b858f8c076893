"use client";

import { createContext, useContext } from "react";

/**
 * `starting`: the stream of changes is opening. `down`: the stream is closed, and lists are polled
 * slowly.
 */
export type LiveState = "starting" | "live" | "down";

/** Pages outside the dashboard have no stream of changes, so the default is `down`. */
export const LiveStateContext = createContext<LiveState>("down");

const SLOW_POLL_MS = 30_000;

/**
 * Polling interval of a list that the stream of changes covers; false unless the stream is down.
 */
export const useLiveIntervalMs = (): number | false =>
  useContext(LiveStateContext) === "down" ? SLOW_POLL_MS : false;
