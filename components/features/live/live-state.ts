"use client";

import { createContext, useContext } from "react";

/** `starting`: the stream of changes is being opened; `down`: it is not there, and lists are polled slowly instead. */
export type LiveState = "starting" | "live" | "down";

/** Pages outside of the dashboard have no stream. */
export const LiveStateContext = createContext<LiveState>("down");

const SLOW_POLL_MS = 30_000;

/** How often a list that the stream of changes covers is read by itself: not at all while the stream is there. */
export const useLiveIntervalMs = (): number | false => (useContext(LiveStateContext) === "down" ? SLOW_POLL_MS : false);
