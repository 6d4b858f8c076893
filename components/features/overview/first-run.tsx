"use client";

import { Check, Circle } from "lucide-react";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { FundButtons } from "@/components/features/faucet/fund-buttons";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { useFirstRun, type FirstRunStep } from "./use-first-run";

const HIDDEN_KEY = "causeway.first-run.hidden";

/** The steps that a new project has not taken yet, from its real data. Hidden when all are done, or by the person. */
export const FirstRun = (): ReactNode => {
  const steps = useFirstRun();
  const [hidden, setHidden] = useState(false);
  // The list comes from queries, so it is null on the server and in the first drawing: reading the browser's store is safe after.
  if (steps === null || hidden || localStorage.getItem(HIDDEN_KEY) === "1") return null;
  const done = steps.filter((step) => step.done).length;
  if (done === steps.length) return null;
  const next = steps.find((step) => !step.done);
  return (
    <Card
      title="First steps"
      description={`${String(done)} of ${String(steps.length)} done`}
      flush
      actions={
        <Button
          size="sm"
          variant="ghost"
          onClick={() => {
            localStorage.setItem(HIDDEN_KEY, "1");
            setHidden(true);
          }}
        >
          Hide
        </Button>
      }
    >
      <ol className="divide-y">
        {steps.map((step) => (
          <StepLine key={step.id} step={step} current={step === next} />
        ))}
      </ol>
    </Card>
  );
};

const StepLine = ({ step, current }: { readonly step: FirstRunStep; readonly current: boolean }): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2" aria-current={current ? "step" : undefined}>
      {step.done ? (
        <Check className="size-4 shrink-0 text-success" aria-hidden />
      ) : (
        <Circle className="size-4 shrink-0 text-fg-3" aria-hidden />
      )}
      <span className={step.done ? "text-fg-3" : "font-medium"}>
        {step.title}
        <span className="sr-only">{step.done ? ", done" : ", to do"}</span>
      </span>
      {step.done ? null : <span className="text-sm text-fg-2">{step.why}</span>}
      {step.done ? null : (
        <span className="ml-auto flex flex-wrap gap-2">
          {step.id === "fund" && devnet ? <FundButtons /> : null}
          {step.href === null ? null : (
            <Link href={step.href} className="link text-sm">
              {step.action}
            </Link>
          )}
        </span>
      )}
    </li>
  );
};
