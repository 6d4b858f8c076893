import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { getMe } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Me = ResponseOf<typeof getMe>;

const STALE_MS = 60_000;

export const meQuery = { ...apiQuery(getMe, {}), staleTime: STALE_MS };

export const useMe = (): UseQueryResult<Me> => useQuery(meQuery);
