"use client";

import { FileClock } from "lucide-react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useCache, useSentOnce } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { toast } from "@/components/ui/toast";
import { createExport, listExports } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createExport as CreateExport } from "@/lib/contracts/exports";

interface BackgroundExportProps {
  readonly kind: BodyInput<typeof CreateExport>["kind"];
  /** The query of the direct download. */
  readonly query: Readonly<Record<string, string | undefined>>;
}

const filtersOf = (query: BackgroundExportProps["query"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** Has the whole list written in the background, then shows the page with its progress. */
export const BackgroundExport = ({ kind, query }: BackgroundExportProps): ReactNode => {
  const router = useRouter();
  const cache = useCache();
  const { mutation, send } = useSentOnce(createExport);
  const start = async (): Promise<void> => {
    try {
      await send({ body: { kind, filters: filtersOf(query) } });
      await cache.refresh(listExports);
      router.push("/activity/exports");
    } catch (error) {
      toast.error(`The export could not be started. ${describeError(error).message}`);
    }
  };
  return (
    <Button
      loading={mutation.isPending}
      title="Writes the whole list, however long, and mails you when the file is ready"
      onClick={() => void start()}
    >
      {mutation.isPending ? null : <FileClock aria-hidden />} In the background
    </Button>
  );
};
