// The official TypeScript SDK as a client; argument: its folder. Prints what it was told.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(process.argv[2] + "/package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const job = JSON.parse(readFileSync(0, "utf8"));
const [command, ...args] = job.server;
const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: { roots: { listChanged: true } } });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
await client.ping();
const tools = (await client.listTools()).tools;
const calls = [];
for (const [name, values] of job.calls) {
  const result = await client.callTool({ name, arguments: values });
  calls.push([name, Boolean(result.isError), result.content.map((part) => part.text).join("")]);
}
const resources = [];
for (const one of (await client.listResources()).resources)
  resources.push([one.uri, (await client.readResource({ uri: one.uri })).contents[0].text]);
const templates = (await client.listResourceTemplates()).resourceTemplates;
const prompts = [];
for (const one of (await client.listPrompts()).prompts)
  prompts.push([one.name, (await client.getPrompt({ name: one.name })).messages[0].content.text]);
console.log(JSON.stringify({
  server: client.getServerVersion().name, instructions: client.getInstructions(), tools: tools.map((tool) => tool.name),
  calls, resources, templates: templates.length, prompts,
}));
await client.close();
