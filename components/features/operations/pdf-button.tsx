"use client";

import { useMutation } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useNames, type Names } from "@/components/features/names/use-names";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { saveFile } from "@/components/ui/save-file";
import type { ApiClient } from "@/lib/api-client/client";
import { listActivity } from "@/lib/api-client/calls.gen";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import { activityPdf } from "./activity-pdf";
import { toListQuery, type ActivityFilters } from "./filter-model";
import type { ActivityRow } from "./activity-entry";

/** The most rows that a page of the list may have. */
const PAGE = 100;
const PAGES_MAX = 20;

const makePdf = async (
  api: ApiClient,
  { filters, ofAddress }: { readonly filters: ActivityFilters } & Pick<Names, "ofAddress">,
): Promise<string> => {
  const rows: ActivityRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: NonNullable<QueryInput<typeof listActivity>> = {
      ...toListQuery(filters),
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    };
    const { data, nextCursor }: ResponseOf<typeof listActivity> = await api.call(listActivity, { query });
    rows.push(...data);
    cursor = nextCursor;
    if (cursor === null) break;
  }
  return activityPdf({ rows, ofAddress, filters, cut: cursor !== null, madeAt: new Date() });
};

/** The list that the filters let through as a PDF, 2,000 movements at most. */
export const PdfButton = ({ filters }: { readonly filters: ActivityFilters }): ReactNode => {
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
