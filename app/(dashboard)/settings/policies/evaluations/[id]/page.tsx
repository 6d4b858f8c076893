import type { Metadata } from "next";
import type { ReactNode } from "react";
import { EvaluationPage } from "@/components/features/policies/evaluation-page";

export const metadata: Metadata = { title: "Decision of the policies" };

const Page = async ({ params }: { readonly params: Promise<{ id: string }> }): Promise<ReactNode> => (
  <EvaluationPage id={(await params).id} />
);

export default Page;
