"use client";

import { ChevronDown, Download, FileClock, FileText, List } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { useCache, useSentOnce } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { DropdownMenu, MenuItem, MenuSeparator } from "@/components/ui/dropdown-menu";
import { type Make, useFile } from "@/components/ui/save-file";
import { toast } from "@/components/ui/toast";
import { createExport, listExports } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import type { createExport as CreateExport } from "@/lib/contracts/exports";

interface BackgroundExport {
  readonly kind: BodyInput<typeof CreateExport>["kind"];
  /** The query of the direct download. */
  readonly query: Readonly<Record<string, string | undefined>>;
}

interface ExportMenuProps extends BackgroundExport {
  readonly makeCsv: Make;
  readonly makePdf?: Make;
}

/**
 * The menu with the ways to save a list as a file. Files that this page makes contain all filtered
 * records up to the limit of a download. An export in the background has no limit.
 */
export const ExportMenu = ({ makeCsv, makePdf, ...background }: ExportMenuProps): ReactNode => {
  const csv = useFile(makeCsv);
  const pdf = useFile(makePdf ?? makeCsv);
  const { start, isStarting } = useBackgroundExport(background);
  return (
    <DropdownMenu
      trigger={
        <Button loading={csv.isPending || pdf.isPending || isStarting}>
          <Download aria-hidden /> Export <ChevronDown aria-hidden />
        </Button>
      }
    >
      <MenuItem onSelect={() => csv.mutate()}>
        <Download aria-hidden /> CSV
      </MenuItem>
      {makePdf === undefined ? null : (
        <MenuItem onSelect={() => pdf.mutate()}>
          <FileText aria-hidden /> PDF
        </MenuItem>
      )}
      <MenuItem onSelect={() => void start()}>
        <FileClock aria-hidden /> CSV of a long list, in the background
      </MenuItem>
      <MenuSeparator />
      <MenuItem asChild>
        <Link href="/activity/exports">
          <List aria-hidden /> Files from the background
        </Link>
      </MenuItem>
    </DropdownMenu>
  );
};

const filtersOf = (query: BackgroundExport["query"]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** Starts an export, then shows the page with its progress. */
const useBackgroundExport = ({ kind, query }: BackgroundExport) => {
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
  return { start, isStarting: mutation.isPending };
};
