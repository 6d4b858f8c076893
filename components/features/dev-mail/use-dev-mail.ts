"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { readInbox } from "@/lib/api-client/calls.gen";

type DevMail = ResponseOf<typeof readInbox>;
export type CaughtMail = DevMail["data"][number];

const SHOWN = 50;
const REFRESH_MS = 2_000;

/** Mail that the development mailer caught; looked at every other second. */
export const useDevMail = (): UseQueryResult<DevMail> =>
  useApiQuery(readInbox, { query: { limit: SHOWN } }, { refetchIntervalMs: REFRESH_MS });
