"use client";

import { Vote } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { buttonLooks } from "@/components/ui/button-looks";

/** Leads from an operation or payout to the request on which people vote. */
export const DecisionLink = ({ id }: { readonly id: string }): ReactNode => (
  <Link href={`/inbox/${id}`} className={buttonLooks({ variant: "primary" })}>
    <Vote aria-hidden /> Waits for votes …
  </Link>
);
