"use client";

import { BookUser, History, TriangleAlert, Wallet } from "lucide-react";
import type { ReactNode } from "react";
import { recipientView } from "@/components/features/transfer/recipient";
import type { KnownAddress } from "@/lib/core/look-alike";
import { shorten } from "@/components/ui/address";

const ICONS = { own: Wallet, contact: BookUser, earlier: History } as const;
const WORDS = {
  own: (name: string) => `Your wallet ${name}`,
  contact: (name: string) => name,
  earlier: (name: string) => `Paid before, ${name}`,
} as const;

interface RecipientLineProps {
  readonly address: string;
  readonly known: readonly KnownAddress[];
}

/** Names the owner of the address when the project knows it, and warns when the address only looks like a known one. */
export const RecipientLine = ({ address, known }: RecipientLineProps): ReactNode => {
  const view = recipientView(address, known);
  if (view.as === "none") return null;
  const Icon = view.as === "new" ? null : ICONS[view.as];
  return (
    <>
      {view.as === "new" || Icon === null ? null : (
        <span className="flex items-center gap-1 text-xs text-fg-2">
          <Icon className="size-3 shrink-0" aria-hidden />
          <span className="truncate">{WORDS[view.as](view.name)}</span>
        </span>
      )}
      {view.lookAlike === null ? null : (
        <span className="flex items-start gap-1 text-xs text-warning">
          <TriangleAlert className="mt-0.5 size-3 shrink-0" aria-hidden />
          <span>
            Looks like {view.lookAlike.as === "earlier" ? "an address paid before" : view.lookAlike.name} (
            {shorten(view.lookAlike.address)}), but is not. Compare the whole address.
          </span>
        </span>
      )}
    </>
  );
};
