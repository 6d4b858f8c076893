"use client";

import { useMutation } from "@tanstack/react-query";
import { ChevronDown, Download, FileSpreadsheet, Printer } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { DropdownMenu, MenuItem } from "@/components/ui/dropdown-menu";
import { saveFile } from "@/components/ui/save-file";
import { readRowsFile } from "./use-payout-rows";

/** The rows as a file, and the receipt for print and PDF. */
export const ExportMenu = ({ payoutId }: { readonly payoutId: string }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useMutation({
    mutationFn: () => readRowsFile(api, payoutId),
    onSuccess: (text) => saveFile(text, `${payoutId}.csv`),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <DropdownMenu
      trigger={
        <Button loading={isPending}>
          {isPending ? null : <Download aria-hidden />} Export <ChevronDown aria-hidden />
        </Button>
      }
    >
      <MenuItem onSelect={() => mutate()}>
        <FileSpreadsheet aria-hidden /> Rows as CSV
      </MenuItem>
      <MenuItem asChild>
        <Link href={`/payouts/${payoutId}/receipt`}>
          <Printer aria-hidden /> Receipt for print or PDF
        </Link>
      </MenuItem>
    </DropdownMenu>
  );
};
