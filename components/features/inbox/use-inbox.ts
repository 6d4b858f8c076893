"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { readInbox } from "@/lib/contracts/dev";

export type Inbox = ResponseOf<typeof readInbox>;
export type CaughtMail = Inbox["data"][number];

const SHOWN = 50;
const REFRESH_MS = 2_000;

/** Mail that the development mailer caught; looked at every other second. */
export const useInbox = (): UseQueryResult<Inbox> =>
  useApiQuery(readInbox, { query: { limit: SHOWN } }, { refetchIntervalMs: REFRESH_MS });
