"use client";

import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { exportOperations } from "@/lib/contracts/operations";
import { toListQuery, type OperationFilters } from "./filter-model";

/** A link cannot carry the access token, so the file is fetched and then handed to the browser. */
const save = (text: string, name: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

/** Everything that the filters let through as CSV, not only the pages that are shown. */
export const ExportButton = ({ filters }: { readonly filters: OperationFilters }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.call(exportOperations, { query: toListQuery(filters) }),
    onSuccess: (text) => save(text, `causeway-activity-${new Date().toISOString().slice(0, 10)}.csv`),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <Button loading={isPending} onClick={() => mutate()}>
      {isPending ? null : <Download aria-hidden />} Export CSV
    </Button>
  );
};
