"use client";

import type { ReactNode } from "react";
import { PageHeader } from "@/components/ui/page-header";
import { EvaluationCard } from "./evaluation-card";

/** The result of each rule for one movement, for somebody whose request was refused. */
export const EvaluationPage = ({ id }: { readonly id: string }): ReactNode => (
  <>
    <PageHeader title="Decision of the policies" description="Each rule that looked at one movement." />
    <EvaluationCard evaluationId={id} description="The decision when this was asked for." />
  </>
);
