"use client";

import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { listActivity, listAnnotations, listOperations, putAnnotation } from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";

export type Annotation = ResponseOf<typeof listAnnotations>["data"][number];

/** The most ids of one question. */
const ANNOTATIONS_MAX = 100;
const STALE_MS = 10_000;

/** Memos and tags by id, of the first 100 ids. */
export const useAnnotations = (ids: readonly string[]): ReadonlyMap<string, Annotation> => {
  const asked = ids.slice(0, ANNOTATIONS_MAX).join(",");
  const { data } = useApiQuery(
    listAnnotations,
    { query: { ids: asked } },
    { enabled: asked !== "", staleTimeMs: STALE_MS },
  );
  return useMemo(() => new Map((data?.data ?? []).map((annotation) => [annotation.id, annotation])), [data]);
};

export const useAnnotate = (id: string): UseMutationResult<Annotation, Error, BodyInput<typeof putAnnotation>> => {
  const api = useApi();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body) => api.call(putAnnotation, { params: { id }, body }),
    onSuccess: () => {
      for (const contract of [listOperations, listActivity])
        void queryClient.invalidateQueries({ queryKey: queryKeyOf(contract) });
      return queryClient.invalidateQueries({ queryKey: queryKeyOf(listAnnotations) });
    },
  });
};
