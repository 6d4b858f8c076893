"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { CopyButton } from "@/components/ui/button";
import { shortId, useAccountNames } from "./account";

interface AccountLinkProps {
  readonly id: string;
  readonly copyLabel: string;
}

export const AccountLink = ({ id, copyLabel }: AccountLinkProps): ReactNode => {
  const nameOf = useAccountNames();
  return (
    <span className="inline-flex min-w-0 items-center gap-0.5">
      <Link
        href={`/accounts/${id}`}
        className="link wrap-anywhere in-table:truncate"
        title={`${nameOf(id) ?? shortId(id)}, ${id}`}
      >
        {nameOf(id) ?? shortId(id)}
      </Link>
      <CopyButton value={id} label={copyLabel} />
    </span>
  );
};
