import type { Metadata } from "next";
import type { ReactNode } from "react";
import { PolicyPage } from "@/components/features/policies/policy-page";

export const metadata: Metadata = { title: "Policy" };

const Page = async ({
  params,
}: {
  readonly params: Promise<{ subject: string }>;
}): Promise<ReactNode> => <PolicyPage subject={(await params).subject} />;

export default Page;
