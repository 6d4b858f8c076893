"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { useApiQuery } from "@/components/features/session/use-api";
import { getMe } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Me = ResponseOf<typeof getMe>;

const STALE_MS = 60_000;

/** The signed-in person. */
export const useMe = (): UseQueryResult<Me> => useApiQuery(getMe, {}, { staleTimeMs: STALE_MS });
