import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ApiKeys } from "@/components/features/api-keys/api-keys";

export const metadata: Metadata = { title: "API keys" };

const Page = (): ReactNode => <ApiKeys />;

export default Page;
