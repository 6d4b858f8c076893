"use client";

import { ArrowRight } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { isFinal } from "@/lib/core/status";
import type { Operation } from "./types";

/** Why it failed, or why the money came back; renders nothing where it did not. */
export const OperationFailure = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const { failure, status, may, retriedBy } = operation;
  if (failure === null) return null;
  const refunded = status === "refunded";
  return (
    <div className="pt-3">
      <Alert
        tone={refunded ? "warning" : "danger"}
        title={refunded ? "Why the money came back" : "Why it failed"}
        actions={
          isFinal(status) && !may.retry && retriedBy === null ? (
            <Link href="/swap" className={buttonLooks({ size: "sm" })}>
              Get a new quote <ArrowRight aria-hidden />
            </Link>
          ) : undefined
        }
      >
        {failure.message} <code className="font-mono text-sm text-fg-2">{failure.code}</code>
      </Alert>
    </div>
  );
};
