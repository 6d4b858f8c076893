"use client";

import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { saveFile } from "@/components/ui/save-file";
import { exportActivity } from "@/lib/api-client/calls.gen";
import { toListQuery, type ActivityFilters } from "./filter-model";

/** Everything that the filters let through as CSV, not only the pages that are shown. */
export const ExportButton = ({ filters }: { readonly filters: ActivityFilters }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.call(exportActivity, { query: toListQuery(filters) }),
    onSuccess: (text) => saveFile(text, `causeway-activity-${new Date().toISOString().slice(0, 10)}.csv`),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <Button loading={isPending} onClick={() => mutate()}>
      {isPending ? null : <Download aria-hidden />} Export CSV
    </Button>
  );
};
