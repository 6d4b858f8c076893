"use client";

import { useMutation } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { ANNOTATIONS_MAX, type Annotation } from "@/components/features/annotations/use-annotations";
import { useNames, type Names } from "@/components/features/names/use-names";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { saveFile } from "@/components/ui/save-file";
import type { ApiClient } from "@/lib/api-client/client";
import { listAnnotations } from "@/lib/contracts/annotations";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import { listOperations } from "@/lib/contracts/operations";
import { activityPdf } from "./activity-pdf";
import { toListQuery, type OperationFilters } from "./filter-model";
import type { Operation } from "./types";

/** As many as a page of the list may have, so that one question brings their memos. */
const PAGE = ANNOTATIONS_MAX;
const PAGES_MAX = 20;

const makePdf = async (
  api: ApiClient,
  { filters, ofAddress }: { readonly filters: OperationFilters } & Pick<Names, "ofAddress">,
): Promise<string> => {
  const operations: Operation[] = [];
  const annotations = new Map<string, Annotation>();
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: NonNullable<QueryInput<typeof listOperations>> = {
      ...toListQuery(filters),
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    };
    const { data, nextCursor }: ResponseOf<typeof listOperations> = await api.call(listOperations, { query });
    operations.push(...data);
    if (data.length > 0) {
      const ids = data.map(({ operationId }) => operationId).join(",");
      for (const one of (await api.call(listAnnotations, { query: { ids } })).data) annotations.set(one.id, one);
    }
    cursor = nextCursor;
    if (cursor === null) break;
  }
  return activityPdf({ operations, annotations, ofAddress, filters, cut: cursor !== null, madeAt: new Date() });
};

/** The list that the filters let through as a PDF, 2,000 operations at most. */
export const PdfButton = ({ filters }: { readonly filters: OperationFilters }): ReactNode => {
  const api = useApi();
  const { ofAddress } = useNames();
  const { mutate, isPending } = useMutation({
    mutationFn: () => makePdf(api, { filters, ofAddress }),
    onSuccess: (file) =>
      saveFile(file, `causeway-activity-${new Date().toISOString().slice(0, 10)}.pdf`, "application/pdf"),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <Button loading={isPending} onClick={() => mutate()}>
      {isPending ? null : <FileText aria-hidden />} PDF
    </Button>
  );
};
