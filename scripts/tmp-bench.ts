import { benchHttp } from "./bench-http";
console.log(JSON.stringify(await benchHttp({ serverUrl: process.argv[2] ?? "", nextUrl: null, apiKey: "cw_test_known" })));
